/** A style sheet that a script brings along: the bundler makes a file of it. */
declare module '*.css'

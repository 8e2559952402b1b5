/** What a person does at the page for signing in. */

import type { Page } from 'playwright-core'

export async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Sign-in name' }).fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

export async function assertHeading(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
}

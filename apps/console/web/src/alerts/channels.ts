/** How the forms ask for the address of each channel. */
export const channels = {
  email: { label: 'Address', type: 'email', hint: 'It gets the mail.' },
  webhook: { label: 'URL', type: 'url', hint: 'It gets callbacks signed by Standard Webhooks.' },
  slack: { label: 'Incoming webhook URL', type: 'url', hint: 'Stored encrypted and never shown again.' },
} as const;

export type Channel = keyof typeof channels;

import { presets } from '@hqrelay/domain/providers/presets';
import type { Project } from '../api/entities.ts';
import { Card } from '../components/page.tsx';

/** How to set up the provider, from the relay's own table of providers. */
export function ProviderGuide({ project: { provider, webhookUrl } }: { project: Project }) {
  const preset = presets.find(({ name }) => name === provider);
  if (!preset) return null;
  return (
    <Card title={`Set up ${preset.title}`}>
      <ol className="m-0 grid list-decimal gap-1.5 pl-5">
        {preset.setUp.map((step) => (
          <li key={step} className="min-w-0 [overflow-wrap:anywhere]">
            {step.replaceAll('{webhookUrl}', webhookUrl).replaceAll('{secret}', 'the secret of the project')}
          </li>
        ))}
      </ol>
      <p className="mt-3 mb-0 text-muted">
        The secret is {preset.secret.what}.{' '}
        {preset.secret.from === 'provider' ? 'The provider makes it.' : 'The relay makes it.'}
      </p>
      {preset.special.length > 0 && (
        <ul className="mt-2 mb-0 grid list-disc gap-1 pl-5 text-muted">
          {preset.special.map((each) => (
            <li key={each}>{each.replaceAll('`', '')}</li>
          ))}
        </ul>
      )}
    </Card>
  );
}

import { Link } from '@tanstack/react-router';
import { buttonClass } from '../components/button.tsx';
import { PageHead } from '../components/page.tsx';

export function NotFound() {
  return (
    <main className="mx-auto max-w-3xl p-4">
      <PageHead title="There is no such page" />
      <p className="text-muted">
        The address may be cut off. Search for an id or a value instead, or start over.
      </p>
      <Link to="/" className={buttonClass('primary')}>
        Start page
      </Link>
    </main>
  );
}

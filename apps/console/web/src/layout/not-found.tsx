import { Link } from '@tanstack/react-router';
import { buttonClass } from '../components/button.tsx';
import { Empty } from '../components/states.tsx';

export function NotFound() {
  return (
    <div className="mx-auto max-w-3xl p-4">
      <Empty title="There is no such page">
        <p>The address may be cut off. Search for an id or a value instead, or start over.</p>
        <Link to="/" className={buttonClass('primary')}>
          Start page
        </Link>
      </Empty>
    </div>
  );
}

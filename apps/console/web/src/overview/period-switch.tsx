import { buttonClass } from '../components/button.tsx';
import { periods, type PeriodName } from './period.ts';

type Props = { name: PeriodName; choose: (name: PeriodName) => void };

export function PeriodSwitch({ name, choose }: Props) {
  return (
    <div role="group" aria-label="Period" className="flex gap-1">
      {(Object.keys(periods) as PeriodName[]).map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === name}
          className={buttonClass(each === name ? 'primary' : 'plain', true)}
          onClick={() => choose(each)}
        >
          {periods[each].label}
        </button>
      ))}
    </div>
  );
}

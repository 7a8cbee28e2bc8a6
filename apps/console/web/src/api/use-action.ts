import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useToast } from '../components/toasts.tsx';
import { call, ApiError } from './call.ts';
import { isSignedOut } from './read.ts';
import type { AnswerOf, Change, InputOf, Reading } from './operations.ts';

type Options<Answer> = {
  /** Operations whose cached answers this change makes stale. */
  changes?: readonly Reading[];
  /** The text of the toast; none where the page itself shows the result. */
  done?: (answer: Answer) => string;
  onDone?: (answer: Answer) => void;
  /** Reverts the change; the toast offers it. */
  undo?: () => void;
  /** Whether the caller shows the error beside its form; a toast shows it otherwise. */
  showsError?: boolean;
};

/** One change through the API. */
export function useAction<C extends Change>(
  operation: C,
  { changes = [], done, onDone, undo, showsError = false }: Options<AnswerOf<C>> = {},
) {
  const client = useQueryClient();
  const toast = useToast();
  return useMutation<AnswerOf<C>, Error, InputOf<C>>({
    mutationFn: (input) => call(operation, input),
    onSuccess(answer) {
      if (done) toast(done(answer), { undo });
      onDone?.(answer);
    },
    onError(error) {
      if (isSignedOut(error)) void client.invalidateQueries({ queryKey: ['get /api/v1/me'] });
      if (!showsError || isSignedOut(error)) toast(sentenceOf(error), { isFault: true });
    },
    // Also after a failure: it may be that the change was made and its answer lost.
    onSettled: () => Promise.all(changes.map((reading) => client.invalidateQueries({ queryKey: [reading] }))),
  });
}

export function sentenceOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return error instanceof Error ? error.message : 'Something failed';
}

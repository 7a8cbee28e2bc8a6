import type { Refusal } from '@hqrelay/actions/action';
import type { ApiRole } from '@hqrelay/domain/access/api-role';
import type { Response } from 'express';
import type { z } from 'zod';
import type { RequestContext } from './request-context.ts';

/** What a parameter of a path may name, beside the project. */
export type Named =
  'project' | 'endpoint' | 'secret' | 'webhook' | 'replay_job' | 'api_key' | 'session' | 'delivery' | 'alert';

/** A refusal of the API itself, beside those of the actions. */
export type ApiRefusal = { kind: 'refused'; statusCode: number; code: string; message: string };

export type Reply<T> = { kind: 'done'; value: T; warnings?: readonly string[] } | Refusal | ApiRefusal;

/** A file that a browser downloads and never renders, or its first bytes. */
export type Attachment = { name: string; bytes: Buffer; wholeBytes: number };

/** Answers with server-sent events, until it or the client ends them. */
export type EventStream = (response: Response) => void;

type Params = z.ZodObject<Record<string, z.ZodType<string>>>;
type Fields = z.ZodObject;

type AnswerKind = z.ZodType | 'attachment' | 'events';

type AnswerOf<A extends AnswerKind> = A extends z.ZodType
  ? z.input<A>
  : A extends 'events'
    ? EventStream
    : Attachment;

/**
 * One operation: its schemas validate what comes in, strip what goes out and make the OpenAPI document. `query` and `body` are
 * absent where the operation has none.
 */
export type RouteDefinition<
  P extends Params = Params,
  Q extends Fields = Fields,
  B extends Fields = Fields,
  A extends AnswerKind = AnswerKind,
> = {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As in OpenAPI: `/api/v1/projects/{projectId}`. */
  path: string;
  /** The id of the operation. */
  name: string;
  summary: string;
  tag: string;
  role: ApiRole;
  /** Whether an API key cannot do it. */
  needsSession?: boolean;
  params?: P;
  /** What the parameters of the path name. The request is answered 404 unless the key sees each of them. */
  names?: Readonly<Record<string, Named>>;
  query?: Q;
  body?: B;
  /** A body that the operation takes, for the document; an empty object when not given. */
  example?: z.input<B>;
  statusCode: 200 | 201 | 202;
  answer: A;
  /** Status codes of refusals beside those that every operation has. */
  refusals?: readonly (400 | 403 | 404 | 409)[];
  handle: (
    context: RequestContext,
    input: { params: z.output<P>; query: z.output<Q>; body: z.output<B> },
  ) => Promise<Reply<AnswerOf<A>>>;
};

/** A route whose schemas only its own handler knows. */
export type Route = Omit<RouteDefinition, 'handle'> & {
  handle: (
    context: RequestContext,
    input: { params: never; query: never; body: never },
  ) => Promise<Reply<unknown>>;
};

/** A route as the pages see it: its method, path and schemas type their requests. */
export type TypedRoute<Method, Path, P, Q, B, A> = Omit<
  Route,
  'method' | 'path' | 'params' | 'query' | 'body' | 'answer'
> & {
  method: Method;
  path: Path;
  params?: P;
  query?: Q;
  body?: B;
  answer: A;
};

export function defineRoute<
  const Method extends Route['method'],
  const Path extends string,
  P extends Params,
  Q extends Fields,
  B extends Fields,
  A extends AnswerKind,
>(
  definition: RouteDefinition<P, Q, B, A> & { method: Method; path: Path },
): TypedRoute<Method, Path, P, Q, B, A> {
  return definition;
}

export function reply<T>(value: T, warnings: readonly string[] = []): Reply<T> {
  return { kind: 'done', value, warnings };
}

export function refuse(statusCode: number, code: string, message: string): ApiRefusal {
  return { kind: 'refused', statusCode, code, message };
}

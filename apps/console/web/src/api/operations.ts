import type { z } from 'zod';
import type { routes } from '../../../src/routes/routes.ts';

type Route = (typeof routes)[number];

/** The route table of the API by `method path`. */
type Routes = { [R in Route as `${R['method']} ${R['path']}`]: R };

export type Operation = keyof Routes;
export type Reading = Extract<Operation, `get ${string}`>;
export type Change = Exclude<Operation, Reading>;

type NoFields = Readonly<Record<string, never>>;

/** The fields of a schema; none where the operation has no schema of its own. */
type FieldsOf<S> = S extends z.ZodType ? (string extends keyof z.input<S> ? NoFields : z.input<S>) : NoFields;

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [K in Name]: string } & ParamsOf<Rest>
  : unknown;

export type QueryOf<O extends Operation> = FieldsOf<NonNullable<Routes[O]['query']>>;
export type BodyOf<O extends Operation> = FieldsOf<NonNullable<Routes[O]['body']>>;

export type InputOf<O extends Operation> = {
  query?: QueryOf<O>;
  body?: BodyOf<O>;
} & (O extends `${string}{${string}` ? { params: ParamsOf<O> } : { params?: undefined });

/** The answer of an operation as JSON has it: times are text. */
export type AnswerOf<O extends Operation> = Routes[O]['answer'] extends z.ZodType
  ? z.output<Routes[O]['answer']>
  : Blob;

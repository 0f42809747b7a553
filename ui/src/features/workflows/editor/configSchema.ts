/** What a JSON Schema says about a place in a text, also in one that is being typed. */
import { compileSchema, type JsonSchema, type SchemaNode } from 'json-schema-library';
import type { Step } from '../jsonSteps';

export interface Fault {
  steps: Step[];
  message: string;
}

export interface Member {
  name: string;
  about: string;
  isRequired: boolean;
  schema: JsonSchema;
}

export class ConfigSchema {
  readonly #root: SchemaNode;

  constructor(schema: JsonSchema) {
    this.#root = compileSchema(schema);
  }

  /** Everything that does not fit. */
  faults(data: unknown): Fault[] {
    return this.#root.validate(data).errors.map(({ message, data: { pointer } }) => ({
      steps: pointer.split('/').slice(1),
      message: message.replace(/ (?:in|at) `#[^`]*`/g, ''),
    }));
  }

  /** The members that the object there may have, required ones first. */
  membersAt(steps: readonly Step[], data: unknown): Member[] {
    const schema = this.schemaAt(steps, data);
    const required = new Set(schema?.required as string[] | undefined);
    return Object.entries((schema?.properties ?? {}) as Record<string, JsonSchema>)
      .map(([name, inner]) => ({ name, schema: inner, about: aboutOf(inner), isRequired: required.has(name) }))
      .sort((one, other) => Number(other.isRequired) - Number(one.isRequired));
  }

  /** The values that the schema itself names for that place, as JSON. */
  valuesAt(steps: readonly Step[], data: unknown): unknown[] {
    const around = this.schemaAt(steps.slice(0, -1), data)?.properties as Record<string, JsonSchema> | undefined;
    // as written, for what is found by value has only the choice that fits what is there now
    const schema = around?.[String(steps.at(-1))] ?? this.schemaAt(steps, data);
    if (!schema) return [];
    const choices = [schema, ...((schema.anyOf ?? []) as JsonSchema[])];
    const types = choices.flatMap(choice => choice.type as string | string[] | undefined);
    return [
      ...choices.flatMap(choice => (choice.enum ?? choice.examples ?? []) as unknown[]),
      ...(types.includes('boolean') ? [true, false] : []),
    ];
  }

  /** The schema there, the branch of a node's type chosen; undefined where it says nothing. */
  schemaAt(steps: readonly Step[], data: unknown): JsonSchema | undefined {
    const found = this.#root.getNode(['#', ...steps].join('/'), data).node?.schema;
    return typeof found === 'object' ? found : undefined;
  }
}

/** What a schema says in words. */
export function aboutOf(schema: JsonSchema): string {
  return typeof schema.description === 'string' ? schema.description : '';
}

/** Type and default of a value, for a line below its name: `text, by default ""`. */
export function shapeOf(schema: JsonSchema): string {
  const choices = [schema, ...((schema.anyOf ?? []) as JsonSchema[])];
  const types = choices.flatMap(choice => (choice.type ?? []) as string | string[]);
  const named = [...new Set(types)].filter(type => type !== 'null').join(' or ');
  const preset = schema.default === undefined || schema.default === null ? '' : JSON.stringify(schema.default);
  return [named, preset && `default ${preset}`].filter(Boolean).join(', ');
}

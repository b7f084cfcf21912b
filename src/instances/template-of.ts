import type { Api, Instance, Template } from '../api/index.ts';
import { textField } from '../api/open-fields.ts';

/**
 * The template that a machine was made from. Inside an instance its fields are not documented, so
 * it is looked for in the list by whatever of id, slug and name is there.
 * undefined when the machine has none, or none that the list knows.
 */
export async function templateOf(instance: Instance, api: Api): Promise<Template | undefined> {
  const inside = instance.application_template;
  const id = typeof inside === 'string' ? inside : textField(inside, 'id');
  const slug = textField(inside, 'slug');
  const name = textField(inside, 'name');
  if (id === undefined && slug === undefined && name === undefined) {
    return undefined;
  }
  const templates = await api.templates.list();
  return (
    templates.find((template) => template.id === id) ??
    templates.find((template) => slug !== undefined && template.slug === slug) ??
    templates.find((template) => name !== undefined && template.name === name)
  );
}

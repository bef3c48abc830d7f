import { FormData } from 'undici';

/** Whether it is a FormData, of the package undici or the one that Node brings itself. */
export function isFormData(body: unknown): body is FormData {
  if (body instanceof FormData) return true;
  return typeof body === 'object' && body !== null && Object.prototype.toString.call(body) === '[object FormData]';
}

/** The one of the package undici: given the other, it would send `[object FormData]`. */
export function ownFormData(form: FormData): FormData {
  if (form instanceof FormData) return form;
  const own = new FormData();
  for (const [name, value] of form as Iterable<[string, string | File]>) {
    if (typeof value === 'string') own.append(name, value);
    else own.append(name, value, value.name);
  }
  return own;
}

/** Each role may do all that the roles before it may. */
export const apiRoles = ['viewer', 'operator', 'admin'] as const;

export type ApiRole = (typeof apiRoles)[number];

export function includesRole(role: ApiRole, needed: ApiRole): boolean {
  return apiRoles.indexOf(role) >= apiRoles.indexOf(needed);
}

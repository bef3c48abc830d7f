/** For `Allow` in answers made here: what is forwarded, CONNECT left out. */
export const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, QUERY';

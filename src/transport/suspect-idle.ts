/**
 * A pooled connection may have been closed by its server without our having looked. Two turns of the event loop let a
 * FIN or RST that has arrived be seen, and the request goes elsewhere with nothing sent. Done for a connection that
 * idled this long, and always for a request that could not be sent again; a busy pool's GETs do not pay for it.
 */
export const suspectIdleMs = 20;

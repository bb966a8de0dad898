/**
 * The server of the admin HTTP API. It listens on a Unix domain socket, and on TCP with a token. Each resource is a
 * class that gets its data through an interface, which the owner of the data implements. The launcher, the parent
 * process, uses the same server and forwards requests to the worker, which serves clients.
 *
 * <p>A new resource is a class below {@code admin.SUBJECT}. {@code DataPlaneAdmin} registers it, {@code LauncherAdmin}
 * forwards it, and {@code TokenRights} determines the roles that may use it.
 */
@NullMarked
package io.millrace.proxy.admin;

import org.jspecify.annotations.NullMarked;

/**
 * The server of the admin HTTP API, on a Unix domain socket, and on TCP with a token. Each resource is a class that
 * reads an interface; the owner of the state implements it. The launcher uses the same server and forwards requests
 * to the worker.
 */
@NullMarked
package io.millrace.proxy.admin;

import org.jspecify.annotations.NullMarked;

/**
 * The admin HTTP API on a Unix domain socket, and on TCP with a token: one class per resource, each behind a small
 * interface that whoever owns the state implements. The launcher uses the same server and forwards what the worker knows.
 */
@NullMarked
package io.millrace.proxy.admin;

import org.jspecify.annotations.NullMarked;

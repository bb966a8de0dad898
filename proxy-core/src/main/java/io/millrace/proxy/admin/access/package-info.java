/** Tokens, roles, request limits and TLS of the admin API over TCP. */
@NullMarked
package io.millrace.proxy.admin.access;

import org.jspecify.annotations.NullMarked;

/** Requests, replies, JSON and errors of admin resources. */
@NullMarked
package io.millrace.proxy.admin.resource;

import org.jspecify.annotations.NullMarked;

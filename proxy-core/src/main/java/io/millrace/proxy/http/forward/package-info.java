/**
 * Rules for fields that a proxy changes or removes when it forwards a message (RFC 9110 section 7.6).
 */
@NullMarked
package io.millrace.proxy.http.forward;

import org.jspecify.annotations.NullMarked;

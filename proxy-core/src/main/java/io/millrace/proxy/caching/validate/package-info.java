/**
 * Validation, preconditions and ranges against a stored response (RFC 9110 sections 13 and 14, RFC 9111 section 4.3).
 */
@NullMarked
package io.millrace.proxy.caching.validate;

import org.jspecify.annotations.NullMarked;

/**
 * Which origin answers for which URL: the remap rules as a table that one request walks once, and the sealed answer. A
 * pure function of the URL, so that whatever shares a cache key shares a rule.
 */
@NullMarked
package io.millrace.proxy.remap;

import org.jspecify.annotations.NullMarked;

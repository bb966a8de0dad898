/** Parsers of the fields that steer caching: Cache-Control, entity tags, cookies, weighted lists. No state. */
@NullMarked
package io.millrace.proxy.caching.field;

import org.jspecify.annotations.NullMarked;

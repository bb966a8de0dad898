/** Parsers of the fields that control caching: Cache-Control, entity tags, cookies, weighted lists. Stateless. */
@NullMarked
package io.millrace.proxy.caching.field;

import org.jspecify.annotations.NullMarked;

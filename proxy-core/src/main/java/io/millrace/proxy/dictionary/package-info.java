/** Dictionaries for compression (RFC 9842): stored responses, the requests that they match, and their memory. */
@NullMarked
package io.millrace.proxy.dictionary;

import org.jspecify.annotations.NullMarked;

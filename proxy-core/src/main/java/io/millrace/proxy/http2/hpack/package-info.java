/** Field compression: decoder, static table and Huffman code (RFC 7541). */
@NullMarked
package io.millrace.proxy.http2.hpack;

import org.jspecify.annotations.NullMarked;

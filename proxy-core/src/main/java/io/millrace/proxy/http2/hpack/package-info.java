/** HPACK, the field compression of HTTP/2 (RFC 7541). Contains the decoder, the static table and the Huffman code. */
@NullMarked
package io.millrace.proxy.http2.hpack;

import org.jspecify.annotations.NullMarked;

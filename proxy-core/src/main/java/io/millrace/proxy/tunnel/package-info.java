/** A client's connection and an origin's joined byte for byte: what CONNECT and a switch of protocols make of them. */
@NullMarked
package io.millrace.proxy.tunnel;

import org.jspecify.annotations.NullMarked;

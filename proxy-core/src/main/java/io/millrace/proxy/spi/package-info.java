/**
 * The interface for extensions: code of other parties that takes part in the processing of requests. Only types of this
 * package and of the JDK appear in it. Extensions come from jars, or an embedding application passes them to the
 * builder of the proxy.
 *
 * <p>An extension implements {@link io.millrace.proxy.spi.Extension} and one interface for each hook that it uses, such
 * as {@link io.millrace.proxy.spi.DeliverHook}. The package {@code spi.log} has the hook for access logs.
 */
@NullMarked
package io.millrace.proxy.spi;

import org.jspecify.annotations.NullMarked;

/**
 * The part of the interface for extensions that concerns access logs. Only types of this package and of the JDK appear
 * in it.
 */
@NullMarked
package io.millrace.proxy.spi.log;

import org.jspecify.annotations.NullMarked;

/** Databases of the locations of IP addresses, in the MaxMind DB format. */
@NullMarked
package io.millrace.proxy.geo;

import org.jspecify.annotations.NullMarked;

/** Settings of the databases of locations. */
@NullMarked
package io.millrace.proxy.config.geo;

import org.jspecify.annotations.NullMarked;

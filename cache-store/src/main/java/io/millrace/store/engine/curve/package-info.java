/** The simulation of other sizes of the RAM tier, fed with the requests of the store. */
@NullMarked
package io.millrace.store.engine.curve;

import org.jspecify.annotations.NullMarked;

/**
 * The miss-ratio curve: estimated hit ratios of other sizes of the RAM tier. Source: Waldspurger et al., "Cache
 * Modeling and Optimization using Miniature Simulations", USENIX ATC 2017.
 */
@NullMarked
package io.millrace.store.curve;

import org.jspecify.annotations.NullMarked;

/** Request collapsing: fetches in flight that requests may join, and keys that are not collapsed. */
@NullMarked
package io.millrace.proxy.lookup;

import org.jspecify.annotations.NullMarked;

/** Distribution of one origin body to all waiting clients and to the store at the same time. */
@NullMarked
package io.millrace.proxy.fill;

import org.jspecify.annotations.NullMarked;

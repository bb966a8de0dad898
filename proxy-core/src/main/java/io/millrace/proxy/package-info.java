/** The façade: what an application that embeds the proxy builds, starts, reloads and closes. */
@NullMarked
package io.millrace.proxy;

import org.jspecify.annotations.NullMarked;

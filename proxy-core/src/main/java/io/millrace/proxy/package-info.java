/** The public API for applications that embed the proxy: build, start, reload and close. */
@NullMarked
package io.millrace.proxy;

import org.jspecify.annotations.NullMarked;

/** Settings of signed URLs and passwords, without which requests are refused. */
@NullMarked
package io.millrace.proxy.config.guard;

import org.jspecify.annotations.NullMarked;

/** The memory of the process and of the kernel's TCP sockets, as the kernel and the JVM report it. */
@NullMarked
package io.millrace.proxy.observe.memory;

import org.jspecify.annotations.NullMarked;

/** Events for operators, such as a change of workers (proxy processes) or an origin that is down. */
@NullMarked
package io.millrace.proxy.observe.event;

import org.jspecify.annotations.NullMarked;

/** Events for operators, such as a roll or an origin that is down: kinds, severities and receivers. */
@NullMarked
package io.millrace.proxy.observe.event;

import org.jspecify.annotations.NullMarked;

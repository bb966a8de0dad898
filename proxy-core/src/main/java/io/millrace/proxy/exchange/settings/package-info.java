/** The settings of exchanges and the other values that decisions about requests depend on, such as the time. */
@NullMarked
package io.millrace.proxy.exchange.settings;

import org.jspecify.annotations.NullMarked;

/** Who may ask for what: decisions that are taken before a request is looked at any further, as sealed results. */
@NullMarked
package io.millrace.proxy.access;

import org.jspecify.annotations.NullMarked;

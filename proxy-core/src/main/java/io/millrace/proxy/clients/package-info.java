/** What single clients have in progress, and how much they may. */
@NullMarked
package io.millrace.proxy.clients;

import org.jspecify.annotations.NullMarked;

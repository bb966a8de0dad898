/** The dashboard in the browser: its files, logins, sessions, and loopback listeners for {@code millctl dashboard}. */
@NullMarked
package io.millrace.proxy.admin.dashboard;

import org.jspecify.annotations.NullMarked;

/** Settings of signed URLs, passwords, tokens and authorisation servers, which protect the URLs of rules. */
@NullMarked
package io.millrace.proxy.config.guard;

import org.jspecify.annotations.NullMarked;

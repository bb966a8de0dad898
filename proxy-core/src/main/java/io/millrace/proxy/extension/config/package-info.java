/** The configuration of extensions, as they read it. */
@NullMarked
package io.millrace.proxy.extension.config;

import org.jspecify.annotations.NullMarked;

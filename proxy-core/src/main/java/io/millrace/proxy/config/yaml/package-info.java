/** The YAML configuration file: reading, editing, JSON Schema and reference page. */
@NullMarked
package io.millrace.proxy.config.yaml;

import org.jspecify.annotations.NullMarked;

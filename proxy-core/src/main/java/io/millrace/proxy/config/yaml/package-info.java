/** The YAML file: reading, editing, schema and reference page. */
@NullMarked
package io.millrace.proxy.config.yaml;

import org.jspecify.annotations.NullMarked;

/** Turns answers of the admin API into text for people: pure functions from a JSON object to lines. */
@NullMarked
package io.millrace.cli.render;

import org.jspecify.annotations.NullMarked;

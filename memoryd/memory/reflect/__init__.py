"""Reflect: pages, opinions and proposals made of what was retained; a plan is a value, and a loop executes it."""
